export type { EnrolmentTicket } from './enrolment-ticket.js';
export { type InstallationEnd, installOverSsh, type SshInstallation } from './install-over-ssh.js';
export {
  agentOptionsOf,
  DEFAULT_POLICY,
  loadPolicy,
  type NodePolicy,
  type PolicyReading,
  policyRefusal,
  readPolicy,
} from './node-policy.js';
export {
  openOverSsh,
  parseSshTarget,
  runOverSsh,
  type SshConnection,
  type SshTarget,
  sshTargetProblem,
} from './ssh-command.js';
export { systemdUnit } from './systemd-unit.js';
export { type AgentInstallation, agentCloudConfig, mergeUserData, NODE_FOLDER } from './user-data.js';
