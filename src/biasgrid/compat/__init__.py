"""Other libraries' names over this library's calls, for scripts that were written for them."""
