export { read } from '../store/knows-maas.js';
