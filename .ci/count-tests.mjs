// Prints "PASSED FAILED" from vitest's JSON report. A file that did not load counts as one failure, and so
// does a run that failed without a failed test (a crash, an error outside the tests). Lists on the error stream the tests that
// passed only when they were run again.
import { readFileSync } from 'node:fs';

const [path, exitCode] = process.argv.slice(2);
const report = JSON.parse(readFileSync(path, 'utf8'));
const unloaded = report.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
);
let failed = report.numFailedTests + unloaded.length;
if (failed === 0 && (exitCode !== '0' || report.numPassedTests === 0)) failed = 1;
for (const { name, assertionResults } of report.testResults)
  for (const { status, fullName, failureMessages } of assertionResults)
    if (status === 'passed' && failureMessages.length > 0)
      console.error(`RETRIED: ${name} > ${fullName}: ${failureMessages[0].split('\n')[0]}`);
console.log(`${report.numPassedTests} ${failed}`);
