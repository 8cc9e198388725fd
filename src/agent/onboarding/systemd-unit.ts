/**
 * The unit of the agent on a node. `KillMode=process` and `Delegate=yes` keep tasks running when the agent restarts.
 * The unit has no sandboxing: tasks would inherit it, and they may have to change anything on the machine (puppet,
 * chrt). Signed orders and the node's policy limit tasks.
 *
 * @param program absolute path of the `sitewright` command
 * @param folder the folder with ticket, credentials and policy
 */
export const systemdUnit = (program: string, folder: string): string => `[Unit]
Description=Sitewright node agent
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
ExecStart=${program} agent serve --folder ${folder}
Restart=always
RestartSec=5
KillMode=process
Delegate=yes
StateDirectory=sitewright
StateDirectoryMode=0700
Environment=NODE_ENV=production LANG=C.UTF-8
OOMPolicy=continue
TasksMax=infinity
LimitCORE=0:infinity

[Install]
WantedBy=multi-user.target
`;
