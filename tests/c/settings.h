/* The verbs of the behaviour cases about settings: files, sources, trust and approvals. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "case.h"

/* Carries such a verb out; false when it is another. */
bool run_settings_verb(run *run, const char *name, const json *arguments, outcome *outcome);

#endif
