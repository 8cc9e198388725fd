import { MachineStatus as S } from '@sitewright/maas/status';

/** States to which a machine returns from a test or from rescue mode. */
const BEFORE_A_VISIT = [
  S.New,
  S.FailedCommissioning,
  S.Missing,
  S.Ready,
  S.Reserved,
  S.Deployed,
  S.Retired,
  S.Broken,
  S.Allocated,
  S.FailedDeployment,
  S.FailedReleasing,
  S.FailedDiskErasing,
];

/**
 * MAAS' table of allowed moves between machine states. Everything else is 409
 * `Invalid transition: A -> B.` A machine may always stay in its state.
 */
export const transitions: Readonly<Record<S, readonly S[]>> = {
  [S.New]: [S.Commissioning, S.Ready, S.Testing, S.Broken, S.EnteringRescueMode],
  [S.Commissioning]: [S.Ready, S.FailedCommissioning, S.Testing, S.New, S.Broken],
  [S.FailedCommissioning]: [S.Commissioning, S.Testing, S.Broken, S.EnteringRescueMode],
  [S.Missing]: [S.New, S.Ready, S.Allocated, S.Commissioning, S.Broken, S.EnteringRescueMode, S.Testing],
  [S.Ready]: [S.Allocated, S.Commissioning, S.Testing, S.Broken, S.EnteringRescueMode],
  [S.Reserved]: [S.Ready, S.Allocated, S.Broken, S.DiskErasing, S.Releasing, S.EnteringRescueMode, S.Testing],
  [S.Deployed]: [S.Releasing, S.DiskErasing, S.Broken, S.Ready, S.EnteringRescueMode, S.Testing, S.Allocated],
  [S.Retired]: [S.New, S.Ready, S.Missing, S.Broken, S.EnteringRescueMode, S.Testing],
  [S.Broken]: [S.Commissioning, S.Ready, S.Releasing, S.DiskErasing, S.Deployed, S.EnteringRescueMode, S.Testing],
  [S.Deploying]: [S.Deployed, S.FailedDeployment, S.Allocated, S.Releasing, S.DiskErasing, S.Ready, S.Broken],
  [S.Allocated]: [S.Deploying, S.Releasing, S.DiskErasing, S.Ready, S.Broken, S.Testing, S.EnteringRescueMode],
  [S.FailedDeployment]: [S.Releasing, S.DiskErasing, S.Ready, S.Broken, S.Allocated, S.EnteringRescueMode, S.Testing],
  [S.Releasing]: [
    S.Ready,
    S.New,
    S.FailedReleasing,
    S.FailedDiskErasing,
    S.Deployed,
    S.FailedDeployment,
    S.Broken,
    S.Allocated,
  ],
  [S.FailedReleasing]: [S.Releasing, S.DiskErasing, S.Ready, S.Broken, S.Testing],
  [S.DiskErasing]: [S.Ready, S.Releasing, S.FailedDiskErasing, S.Broken],
  [S.FailedDiskErasing]: [S.DiskErasing, S.Releasing, S.Ready, S.Broken, S.Allocated, S.EnteringRescueMode, S.Testing],
  [S.RescueMode]: [S.ExitingRescueMode, S.Broken, S.Testing],
  [S.EnteringRescueMode]: [
    S.RescueMode,
    S.FailedEnteringRescueMode,
    S.ExitingRescueMode,
    S.Ready,
    S.Deployed,
    S.Broken,
  ],
  [S.FailedEnteringRescueMode]: [S.EnteringRescueMode, S.ExitingRescueMode, S.Broken, S.Testing],
  [S.ExitingRescueMode]: [...BEFORE_A_VISIT, S.FailedExitingRescueMode, S.FailedTesting],
  [S.FailedExitingRescueMode]: [S.ExitingRescueMode, S.Broken, S.Testing],
  [S.Testing]: [
    ...BEFORE_A_VISIT,
    S.FailedTesting,
    S.RescueMode,
    S.FailedEnteringRescueMode,
    S.FailedExitingRescueMode,
  ],
  [S.FailedTesting]: [S.Commissioning, S.Ready, S.Testing, S.Broken, S.EnteringRescueMode, S.Deployed],
};

export const mayMove = (from: number, to: S): boolean => from === to || (transitions[from as S]?.includes(to) ?? false);
