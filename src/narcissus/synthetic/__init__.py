"""A given synthetic file, without its generator: three risks, compared with outsiders."""

from narcissus.synthetic.assessment import Assessment, FileThreat, Risk, assess_file
from narcissus.synthetic.files import GivenFiles, read_files

__all__ = ["Assessment", "FileThreat", "GivenFiles", "Risk", "assess_file", "read_files"]
