/* The patterns of the behaviour cases: docs/internals/behaviour-steps.md, "Expectations". */
#ifndef PATTERN_H
#define PATTERN_H

#include "json.h"

/* Whether a value (NULL: not there) fits a pattern. */
bool fits(const json *value, const json *pattern);

#endif
