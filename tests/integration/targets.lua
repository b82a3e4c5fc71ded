-- wrk asks for the targets of a file in turn, and says what it counted as JSON.
local targets = {}
local at = 0

function init(arguments)
  for line in io.lines(arguments[1]) do
    targets[#targets + 1] = line
  end
end

function request()
  at = at % #targets + 1
  return wrk.format("GET", targets[at])
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}\n',
    summary.requests, errors.connect, errors.read, errors.write, errors.status, errors.timeout
  ))
end
