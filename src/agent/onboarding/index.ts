export { type InstallationEnd, installOverSsh } from './install-over-ssh.js';
export { agentOptionsOf, type NodePolicy, policyRefusal, usablePolicy } from './node-policy.js';
export { parseSshTarget, type SshTarget, sshTargetProblem } from './ssh-command.js';
export { systemdUnit } from './systemd-unit.js';
export { agentCloudConfig, mergeUserData } from './user-data.js';
