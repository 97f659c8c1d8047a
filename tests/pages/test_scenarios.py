"""What the questionnaires were designed for: each scenario and each mended fault, with the tests that hold it."""

from __future__ import annotations

import pytest

from named import faults_of

SCENARIOS = {
    "yes or no, 2,000 answers: within 5 points, 6 with not saying": [
        "questionnaire/test_outlook.py::test_two_thousand_answers"
    ],
    "sixty people: warned, and published": [
        "questionnaire/test_outlook.py::test_sixty_people_are_warned_and_still_published",
        "questionnaire/test_commands.py::test_sixty_people_get_a_result_and_closing_says_if_there_is_none",
    ],
    "six questions: how many people each gets": ["questionnaire/test_outlook.py::test_six_questions"],
    "what is not worth it has a page of its own": [
        "questionnaire/test_builder.py::test_what_is_not_worth_it_has_a_page_of_its_own"
    ],
    "eight weekly windows of a changing number: never silent": [
        "questionnaire/test_outlook.py::test_devices_answer_every_window_of_what_is_recommended",
        "questionnaire/test_commands.py::test_a_weekly_task_that_devices_decline_is_warned_about",
    ],
    "twelve windows cannot be opened, and why": [
        "questionnaire/test_builder.py::test_twelve_windows_cannot_be_opened_and_say_why"
    ],
    "a limit that is reached is told before the question": [
        "pages/test_browser.py::test_a_task_that_costs_too_much_is_declined_before_the_question"
    ],
    "37, back, 45: counted once": ["pages/test_answering.py::test_a_number_is_said_back_corrected_and_asked_about"],
    "A, B, A: the last draw is sent, none is shown": [
        "pages/test_answering.py::test_who_goes_back_and_forth_cannot_choose_the_noise"
    ],
    "two tabs: one report": ["pages/test_browser.py::test_two_tabs_send_one_report"],
    "a page that is loaded anew has no answer in it": [
        "pages/test_browser.py::test_who_comes_back_after_leaving_finds_the_report_sent",
        "pages/test_browser.py::test_a_page_that_comes_back_as_it_was_left_asks_no_more",
    ],
    "back after sending: the receipt": ["pages/test_browser.py::test_who_comes_back_sees_what_became_of_the_report"],
    "offline at the press, and back: one report": ["pages/test_browser.py::test_offline_and_back"],
    "offline until the task is over: told": [
        "pages/test_answering.py::test_a_report_that_could_not_be_sent_in_time_is_told"
    ],
    "a promise that does not hold is not asked under": [
        "pages/test_browser.py::test_a_task_that_was_changed_on_the_way_is_not_asked"
    ],
    "Arabic: direction, order, digits": [
        "pages/test_answering.py::test_an_arabic_reader_answers_on_a_small_phone",
        "pages/test_languages.py::test_every_page_is_of_one_language",
    ],
    "1.000 is asked about": [
        "questionnaire/test_document.py::test_numbers_with_two_readings_are_asked_about",
        "pages/test_languages.py::test_numbers_are_read_as_people_write_them",
    ],
    "a question of 300 characters opens": ["questionnaire/test_findings.py::test_a_question_of_300_characters_opens"],
    "nobody who asks: cannot be opened": ["questionnaire/test_document.py::test_what_keeps_it_from_being_opened"],
    "robots are gone on opening": ["questionnaire/test_builder.py::test_from_nothing_to_an_open_task"],
    "a small group is joined": ["questionnaire/test_outlook.py::test_groups"],
    "yes or no is one comparison": [
        "pages/test_results.py::test_the_trend_is_that_of_all_published_windows_and_corrected_for_all_questions"
    ],
    "a window that was withheld is a gap with its reason": [
        "pages/test_results.py::test_the_public_page_tells_nothing_that_was_withheld"
    ],
    "the public page finds a changed digit": ["pages/test_results.py::test_verify_finds_a_changed_digit"],
    "a shared tablet keeps nothing, and begins anew": [
        "pages/test_answering.py::test_a_shared_tablet_keeps_nothing",
        "pages/test_answering.py::test_a_tablet_that_was_left_is_cleared",
    ],
    "a frame of another site is refused": [
        "pages/test_answering.py::test_frames_are_for_listed_sites_and_say_where_they_come_from",
        "pages/test_languages.py::test_a_frame_is_for_sites_that_are_listed",
    ],
    "nothing moves where that is wanted": ["pages/test_answering.py::test_the_coin_moves_where_that_is_wanted"],
    "questions of one report are asked one after the other": [
        "pages/test_joint.py::test_they_are_asked_one_after_the_other_and_sent_as_one_report"
    ],
    "from an idea to a published result, on three hundred phones": [
        "questionnaire/test_whole.py::test_six_questions_in_two_languages_are_answered_and_published"
    ],
    "a thousand answers leave nothing anywhere": [
        "pages/test_recorded.py::test_a_thousand_answers_leave_nothing_anywhere"
    ],
}
"""Of those who answer and read, and the builder's that they meet."""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_has_its_tests(scenario: str) -> None:
    assert faults_of(SCENARIOS[scenario]) == []


def test_a_name_that_is_gone_would_be_noticed() -> None:
    gone = "pages/test_answering.py::test_that_is_not_there"
    assert faults_of([gone, "pages/test_browser.py::test_two_tabs_send_one_report"]) == [
        f"{gone} is not there any more"
    ]
