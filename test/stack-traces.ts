// As long as anywhere: an option in vitest.config.ts shortens those of workflows, which have globals of their own.
Error.stackTraceLimit = 10;
