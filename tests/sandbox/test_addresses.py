import pytest

from maia.sandbox.addresses import is_public, names_inside


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "198.18.0.1", "224.0.0.1",
        "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.0.2.1", "::", "::1", "fe80::1", "fe80::1%eth0",
        "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1",
        "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::",
        "2002:a9fe:a9fe::1", "2001::1", "2001:db8::1", "no address",
    ],
)  # fmt: skip
def test_addresses_that_lead_inside_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "0", "::1",
        "3232235777", "169.254.43518", "localhost", "a.localhost", "printer.local", "metadata.google.internal",
        "router", "nas.lan", "x.home.arpa", "localhost.localdomain",
    ],
)  # fmt: skip
def test_names_and_spellings_that_lead_inside(host: str) -> None:
    assert names_inside(host)


@pytest.mark.parametrize(
    "host", ["example.org", "8.8.8.8", "134744072", "2606:4700::1111", "localhost.example.org", "10.example.org"]
)
def test_names_that_may_lead_outside(host: str) -> None:
    assert not names_inside(host)
