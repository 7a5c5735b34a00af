"""What a public host needs to build, test, publish and run truepool."""

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"
PROJECTS = {
    path.parent.name: tomllib.loads(path.read_text())["project"]
    for path in sorted(ROOT.glob("packages/*/pyproject.toml"))
}
PROJECT = PROJECTS["truepool"]
OTHERS = {name: project for name, project in PROJECTS.items() if name != "truepool"}


def load(path):
    return yaml.safe_load(path.read_text())


def test_all_distributions_have_one_version_and_need_each_other_in_it():
    version = PROJECT["version"]
    assert {project["version"] for project in PROJECTS.values()} == {version}
    for name, project in OTHERS.items():
        assert project["name"] == name
        assert f"truepool=={version}" in project["dependencies"]
        extra = PROJECT["optional-dependencies"][name.removeprefix("truepool-")]
        assert [re.sub(r"\[.*\]", "", each) for each in extra] == [f"{name}=={version}"]
    others = [
        *ROOT.glob("packages/*/src/**/*.py"),
        ROOT / "CITATION.cff",
        ROOT / "Containerfile",
    ]
    assert not [path for path in others if version in path.read_text()]


def test_the_library_needs_none_of_the_others():
    assert not [each for each in PROJECT["dependencies"] if each.startswith("truepool")]


def test_every_distribution_has_the_licence_of_the_repository():
    for name in PROJECTS:
        copy = ROOT / "packages" / name / "LICENSE"
        assert copy.read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_classifiers_name_every_python_that_is_tested():
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    jobs = load(WORKFLOWS / "ci.yml")["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert len(jobs["test"]["strategy"]["matrix"]["os"]) == 3
    assert set(jobs) == {"lint", "test", "docs", "build"}


TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/extending.md", "docs/install.md"]
)
def test_every_target_of_make_that_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    named = set(re.findall(r"(?:^|`)make ([a-z][\w-]*)", text, re.MULTILINE))
    assert named
    assert named <= set(TARGETS)


def test_every_target_of_make_that_a_workflow_runs_exists():
    for path in WORKFLOWS.glob("*.yml"):
        for words in re.findall(r"run: make (.*)", path.read_text()):
            assert set(words.split()) <= set(TARGETS)


def test_a_release_is_published_by_tag_without_a_password():
    release = load(WORKFLOWS / "release.yml")
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML reads "on" as true
    assert release["permissions"] == {"contents": "read"}
    publish = release["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert "secrets." not in (WORKFLOWS / "release.yml").read_text()


def test_the_container_runs_as_a_user_without_rights_and_writes_to_its_volume_only():
    lines = (ROOT / "Containerfile").read_text().splitlines()
    final = lines[max(i for i, line in enumerate(lines) if line.startswith("FROM")) :]
    (user,) = (line.split()[1] for line in final if line.startswith("USER"))
    assert int(user) > 0
    assert "VOLUME /data" in final
    text = "\n".join(final)
    written = re.findall(r"(?:NUMBA_CACHE_DIR|MPLCONFIGDIR|TRUEPOOL_CACHE)=(\S+)", text)
    assert len(written) == 3
    assert all(path.startswith("/data/") for path in written)
    assert "PYTHONDONTWRITEBYTECODE=1" in text


def test_the_citation_names_the_paper_and_the_works_that_corrections_rest_on():
    citation = load(ROOT / "CITATION.cff")
    assert citation["title"] == PROJECT["name"]
    assert citation["license"] == PROJECT["license"]
    titles = [work["title"] for work in citation["references"]]
    assert titles[0].startswith("When Individually Calibrated Models")
    names = {author["family-names"] for work in citation["references"] for author in work["authors"]}  # fmt: skip
    assert {"Ranjan", "Gneiting", "Budescu", "Freeman"} <= names
