#!/bin/sh
# Counts the lines, words and bytes of the parameter `text`, which arrives in SKILL_PARAM_TEXT.
set -eu

count() {
    printf '%s\n' "$SKILL_PARAM_TEXT" | wc "$1" | tr -d ' '
}

printf '{"lines": %s, "words": %s, "bytes": %s}\n' "$(count -l)" "$(count -w)" "$(printf %s "$SKILL_PARAM_TEXT" | wc -c | tr -d ' ')"
