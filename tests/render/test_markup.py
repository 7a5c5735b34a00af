from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from truepool.render.markup import Markup, joined, prose, tag


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.values = [], "", {}

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.values |= dict(attrs)

    def handle_data(self, data):
        self.text += data


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\0")))
def test_whatever_is_said_is_read_as_text(said):
    reader = Reader()
    reader.feed(tag("p", said, title=said))
    reader.close()
    assert reader.tags == ["p"]
    assert reader.text == said
    assert reader.values == {"title": said}


def test_attributes_that_are_not_there_are_left_out():
    assert (
        tag("i", hidden=True, title=None, lang=False, for_="a")
        == '<i hidden for="a"></i>'
    )


def test_elements_without_an_end_have_none():
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'


def test_a_backtick_in_a_name_is_no_code():
    assert prose("`ada` and `<b>`") == "<code>ada</code> and <code>&lt;b&gt;</code>"
    assert prose("ada` harms") == "ada` harms"


def test_markup_is_escaped_once():
    assert joined(tag("b", "<"), "<", Markup("<br>")) == "<b>&lt;</b>&lt;<br>"
