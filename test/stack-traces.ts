// As long as anywhere: an option in vitest.config.ts shortens those of workflows, which have their own globals.
Error.stackTraceLimit = 10;
