/** The only entry point of the workflow bundle. Its exports are the workflow types (workflows/protocol.ts), and the workflow for unknown types. */
export { deploy_site } from './deploy-site.ts';
export { drain_agent } from './drain-agent.ts';
export { execute_graph } from './execute-graph.ts';
export { redeploy_nodes } from './redeploy-nodes.ts';
export { run_call } from './run-call.ts';
export { run_graph_part } from './run-graph-part.ts';
export { send_notice } from './send-notice.ts';
export { test_site } from './test-site.ts';
export { unknown_workflow as default } from './unknown-workflow.ts';
export { update_site } from './update-site.ts';
