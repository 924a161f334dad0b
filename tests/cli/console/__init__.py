"""Tests of exit codes, streams and text from outside."""
