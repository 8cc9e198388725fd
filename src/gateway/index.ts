export { auditedAlarms } from './alarms.js';
export { createGateway } from './gateway.js';
export { GatewayClient } from './gateway-client.js';
export { GatewayConnection, GatewayRefused } from './gateway-connection.js';
export { enrolNode, type NodeCredentials, readCredentials } from './node-credentials.js';
export { issueTicket } from './node-ticket.js';
export type { OrderBook, PlannedTask } from './ports.js';
export { sourceFilesBelow } from './source-files.js';
