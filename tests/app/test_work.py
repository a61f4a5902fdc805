"""What the page asks another process for."""

from narcissus.app import work


def test_the_form_of_a_table_shows_what_its_audit_would_leave_open(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["case_id,town,illness"]
    for k in range(300):
        ill = k * 7919 % 300 % 3 // 2
        lines.append(f"{'KA'[ill]}{k * 7717 % 100_000:05},{k % 4},{ill}")
    (tmp_path / "people.csv").write_text("\n".join(lines))
    assert not [one for one in work.look("people.csv")["cautions"] if "case_id" in one]
    [found] = [one for one in work.examine("people.csv")["cautions"] if "case_id" in one]
    assert "is open, and an audit will not say" in found
