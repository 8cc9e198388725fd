export { DirectedGraph } from 'graphology';
