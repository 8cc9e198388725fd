/**
 * MAAS' machine states: the numbers of REST API 2.0's `status` field.
 *
 * Compare numbers, never `status_name`: the names are text for people, and their wording has
 * changed between MAAS versions. A number that is not listed here comes from a newer MAAS.
 */
export const MachineStatus = {
  New: 0,
  Commissioning: 1,
  FailedCommissioning: 2,
  Missing: 3,
  Ready: 4,
  Reserved: 5,
  Deployed: 6,
  Retired: 7,
  Broken: 8,
  Deploying: 9,
  Allocated: 10,
  FailedDeployment: 11,
  Releasing: 12,
  FailedReleasing: 13,
  DiskErasing: 14,
  FailedDiskErasing: 15,
  RescueMode: 16,
  EnteringRescueMode: 17,
  FailedEnteringRescueMode: 18,
  ExitingRescueMode: 19,
  FailedExitingRescueMode: 20,
  Testing: 21,
  FailedTesting: 22,
} as const;

/** A known state. */
export type MachineStatus = (typeof MachineStatus)[keyof typeof MachineStatus];

/** `status_name` as MAAS 3.6 writes it, for messages to people. */
export const machineStatusNames: Readonly<Record<MachineStatus, string>> = {
  0: 'New',
  1: 'Commissioning',
  2: 'Failed commissioning',
  3: 'Missing',
  4: 'Ready',
  5: 'Reserved',
  6: 'Deployed',
  7: 'Retired',
  8: 'Broken',
  9: 'Deploying',
  10: 'Allocated',
  11: 'Failed deployment',
  12: 'Releasing',
  13: 'Releasing failed',
  14: 'Disk erasing',
  15: 'Failed disk erasing',
  16: 'Rescue mode',
  17: 'Entering rescue mode',
  18: 'Failed to enter rescue mode',
  19: 'Exiting rescue mode',
  20: 'Failed to exit rescue mode',
  21: 'Testing',
  22: 'Failed testing',
};

/** The value of the list filter `status=`, by state. Any other value is a 400. */
export const machineStatusFilters: Readonly<Record<MachineStatus, string>> = {
  0: 'new',
  1: 'commissioning',
  2: 'failed_commissioning',
  3: 'missing',
  4: 'ready',
  5: 'reserved',
  6: 'deployed',
  7: 'retired',
  8: 'broken',
  9: 'deploying',
  10: 'allocated',
  11: 'failed_deployment',
  12: 'releasing',
  13: 'failed_releasing',
  14: 'disk_erasing',
  15: 'failed_disk_erasing',
  16: 'rescue_mode',
  17: 'entering_rescue_mode',
  18: 'failed_entering_rescue_mode',
  19: 'exiting_rescue_mode',
  20: 'failed_exiting_rescue_mode',
  21: 'testing',
  22: 'failed_testing',
};

/** States that MAAS ends: poll until the machine leaves them. */
export const inProgressStatuses: ReadonlySet<number> = new Set<MachineStatus>([
  MachineStatus.Commissioning,
  MachineStatus.Deploying,
  MachineStatus.Releasing,
  MachineStatus.DiskErasing,
  MachineStatus.EnteringRescueMode,
  MachineStatus.ExitingRescueMode,
  MachineStatus.Testing,
]);

/** True for a known state; false for one of a newer MAAS. */
export function isMachineStatus(status: number): status is MachineStatus {
  return Object.hasOwn(machineStatusNames, status);
}

/** The state's name for people; `status 42` for a number of a newer MAAS. */
export function machineStatusName(status: number): string {
  return isMachineStatus(status) ? machineStatusNames[status] : `status ${status}`;
}
