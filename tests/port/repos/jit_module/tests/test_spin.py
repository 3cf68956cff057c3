import spinlib


def test_spin():
    spinlib.spin(None, None)
