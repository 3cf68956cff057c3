"""The way from a public function to its launches."""
