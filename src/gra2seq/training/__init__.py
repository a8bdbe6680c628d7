"""The training loop, and the files a run leaves behind."""
