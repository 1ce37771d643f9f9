"""How a stream of events is read."""

from __future__ import annotations

import unittest

from docent_client.answers import lines_of, read_events


class TestEvents(unittest.TestCase):
    def test_lines_end_at_line_feeds_only(self) -> None:
        for name, parts, want in (
            ("nothing", [], []),
            ("in one part", ["a\nb\n\n"], ["a", "b", ""]),
            ("in many parts", ["a", "\n", "b\r", "\n\nc"], ["a", "b", "", "c"]),
            ("what splitlines takes for ends", ["a\x85b\u2028c\u2029d\x0b\x0c\x1c\n"], ["a\x85b\u2028c\u2029d\x0b\x0c\x1c"]),
        ):
            with self.subTest(name):
                self.assertEqual(list(lines_of(parts)), want)

    def test_data_has_any_characters(self) -> None:
        text = "one\x85two\u2028three"
        events = list(read_events(lines_of([f'event: text.delta\nid: 3-1\ndata: {{"text":"{text}"}}\n\n'])))
        self.assertEqual(events, [("text.delta", "3-1", {"text": text})])
