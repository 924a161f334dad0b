"""What a verb hands back: plain values, no torch."""
