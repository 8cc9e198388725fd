export type { EnrolmentTicket } from './enrolment-ticket.js';
export { type InstallationEnd, installOverSsh, type SshInstallation } from './install-over-ssh.js';
export { agentOptionsOf, loadPolicy, type NodePolicy, type PolicyReading, policyRefusal } from './node-policy.js';
export { parseSshTarget, type SshConnection, type SshTarget, sshTargetProblem } from './ssh-command.js';
export { systemdUnit } from './systemd-unit.js';
export { type AgentInstallation, agentCloudConfig, mergeUserData } from './user-data.js';
