"""The one loop, and the files a run leaves behind."""
