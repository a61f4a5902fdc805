"""Signatures of records: the bytes of the file, one key of one kind, nothing else passes."""

import base64

import pytest

from narcissus.errors import InputError
from narcissus.study.signing import check_signature, read_private_key, sign, signature_path

serialization = pytest.importorskip(
    "cryptography.hazmat.primitives.serialization", reason="the extra `sign` is not installed"
)
from cryptography.hazmat.primitives.asymmetric import ec, ed25519  # noqa: E402

# RFC 8032, section 7.1, test 2: the message is one byte, 0x72.
SECRET = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
SIGNATURE = bytes.fromhex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


@pytest.fixture
def keys(tmp_path):
    """Give the function that writes a key, and gives the files of its two halves."""

    def write(key, name="key", password=None):
        protection = (
            serialization.BestAvailableEncryption(password)
            if password
            else serialization.NoEncryption()
        )
        private, public = tmp_path / f"{name}.pem", tmp_path / f"{name}.pub"
        pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        private.write_bytes(key.private_bytes(pem, form, protection))
        info = serialization.PublicFormat.SubjectPublicKeyInfo
        public.write_bytes(key.public_key().public_bytes(pem, info))
        return private, public

    return write


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "record.json"
    path.write_bytes(b"\x72")
    return path


def test_the_signature_is_that_of_the_standard(keys, record):
    private, public = keys(ed25519.Ed25519PrivateKey.from_private_bytes(SECRET))
    target = sign(record, read_private_key(private))
    assert target == signature_path(record) == record.with_name("record.json.sig")
    assert base64.b64decode(target.read_bytes().strip(), validate=True) == SIGNATURE
    check_signature(record, public)


def test_another_record_another_key_or_no_signature_is_refused(keys, record):
    private, public = keys(ed25519.Ed25519PrivateKey.from_private_bytes(SECRET))
    _, theirs = keys(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32)), "theirs")
    with pytest.raises(InputError, match=r"record\.json\.sig"):
        check_signature(record, public)
    sign(record, read_private_key(private))
    with pytest.raises(InputError, match="is not one of"):
        check_signature(record, theirs)
    record.write_bytes(b"\x73")
    with pytest.raises(InputError, match="is not one of"):
        check_signature(record, public)


@pytest.mark.parametrize("content", [b"", b"????", base64.b64encode(SIGNATURE[:-1]), SIGNATURE])
def test_what_is_no_signature_is_refused(keys, record, content):
    _, public = keys(ed25519.Ed25519PrivateKey.from_private_bytes(SECRET))
    signature_path(record).write_bytes(content)
    with pytest.raises(InputError, match="is not one of"):
        check_signature(record, public)


def test_keys_of_other_kinds_are_refused(keys, record):
    private, public = keys(ec.derive_private_key(7, ec.SECP256R1()), "curve")
    with pytest.raises(InputError, match="a key of another kind; make one with"):
        read_private_key(private)
    with pytest.raises(InputError, match="not an Ed25519 public key"):
        check_signature(record, public)
    locked, mine = keys(ed25519.Ed25519PrivateKey.from_private_bytes(SECRET), "locked", b"word")
    for wrong in (locked, mine, record):
        with pytest.raises(InputError, match="private key in PEM form"):
            read_private_key(wrong)
    with pytest.raises(InputError, match="public key in PEM form"):
        check_signature(record, locked)
