"""Where reports go, and which function writes them."""
