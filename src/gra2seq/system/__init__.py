"""The operating system: files written atomically, worker processes, memory."""
