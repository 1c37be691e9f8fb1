"""The experiment in this folder: every command of the evaluator is a task of `eval_tasks/tasks.py`."""

from eval_tasks.tasks import *  # noqa: F403 - doit takes every task of it
