"""What makes a function known under another name, between Python and C++."""
