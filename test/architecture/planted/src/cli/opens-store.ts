export { read } from '../store/knows-maas.ts';
