/** The only entry point of the workflow bundle. Its exports are the workflow types (workflows/protocol.ts), and what runs any other. */
export { deploy_site } from './deploy-site.js';
export { drain_agent } from './drain-agent.js';
export { execute_graph } from './execute-graph.js';
export { redeploy_nodes } from './redeploy-nodes.js';
export { run_call } from './run-call.js';
export { run_graph_part } from './run-graph-part.js';
export { send_notice } from './send-notice.js';
export { test_site } from './test-site.js';
export { unknown_workflow as default } from './unknown-workflow.js';
export { update_site } from './update-site.js';
