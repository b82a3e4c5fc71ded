"""The document that `sluicegate up` writes for a beginning."""

STARTER = """\
# A first Sluicegate document. The running gateway follows every change of this file;
# `sluicegate check sluicegate.yaml` says whether it is fine before you save it elsewhere.
format: 1

listeners:
  - id: http
    address: "127.0.0.1:8080"

upstreams:
  - id: example                      # `sluicegate up` starts this one for you
    endpoints:
      - address: "127.0.0.1:9000"

routes:
  - id: hello
    match:
      path: /hello
      methods: [GET]
    upstream: example

  - id: echo                         # answers with what the upstream has seen
    match:
      path: /echo/**
    upstream: example

  - id: about
    match:
      path: /
    respond:
      status: 200
      headers: {Content-Type: text/plain}
      body: "This is Sluicegate. Try /hello and /echo/anything.\\n"
"""
EXAMPLE_ADDRESS = "127.0.0.1:9000"
