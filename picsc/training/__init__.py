"""Networks and their training: Algorithm 1, Algorithm 2, trainers, tuning."""
