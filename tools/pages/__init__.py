"""The pages of docs/reference/, each made from what the code says of itself."""
