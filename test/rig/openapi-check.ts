import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { AnswerSeen } from '../../src/api/index.ts';

interface Media {
  readonly schema?: object;
}
interface Described {
  readonly content?: Readonly<Record<string, Media>>;
  readonly $ref?: string;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Record<string, Described> }>>>>;
  readonly components: { readonly responses: Record<string, Described> };
}

const PLACES = 'openapi';

type Check = (answer: AnswerSeen) => void;

/** One for all APIs of a process that describe themselves alike: a description and its validators take half a second. */
const shared = new Map<string, Check>();

/**
 * Compares each answer of an API with its description: status, type and, for JSON, the body.
 *
 * @param like names the APIs that have this description; absent: this one alone
 */
export function openapiCheck(like?: string): Check {
  const known = like === undefined ? undefined : shared.get(like);
  if (known !== undefined) return known;
  const made = newCheck();
  if (like !== undefined) shared.set(like, made);
  return made;
}

function newCheck(): Check {
  let document: Document | undefined;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validators = new Map<string, ValidateFunction>();

  return ({ method, route, status, type, body, describe }) => {
    if (!route.startsWith('/api/v1/')) return;
    if (document === undefined) {
      document = describe() as Document;
      ajv.addSchema({ $id: PLACES, ...document });
    }
    const path = route.replace(/:(\w+)/g, '{$1}');
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const name = `${method} ${path} ${status}`;
    const responses = document.paths[path]?.[verb]?.responses;
    // Unexpected ones (500) and those of the transport (408, 431 …) belong to no route.
    const said = responses?.[status];
    if (said === undefined) {
      if (status >= 500 || [400, 405, 408, 413, 415, 431].includes(status)) return;
      throw new Error(`${name} is not described`);
    }
    const at = said.$ref?.replace('#', '') ?? `/paths/${pointer(path)}/${verb}/responses/${status}`;
    const content = (said.$ref === undefined ? said : document.components.responses[said.$ref.split('/').at(-1)!])
      ?.content;
    const [media = ''] = type.split(';');
    if (content === undefined) {
      if (body === '') return;
      throw new Error(`${name} answers with a body, and says it has none`);
    }
    if (method === 'HEAD') return;
    if (content[media] === undefined)
      throw new Error(`${name} answers with ${media}, and says ${Object.keys(content)}`);
    const value = media === 'text/event-stream' ? eventIn(body) : /json/.test(media) ? JSON.parse(body) : undefined;
    if (value === undefined) return;
    const key = `${PLACES}#${at}/content/${pointer(media)}/schema`;
    let validate = validators.get(key);
    if (validate === undefined) validators.set(key, (validate = ajv.compile({ $ref: key })));
    if (validate(value)) return;
    throw new Error(`${name} answers otherwise than it says: ${ajv.errorsText(validate.errors).slice(0, 2_000)}`);
  };
}

/** Name and data of an event; undefined for a comment. */
function eventIn(block: string): object | undefined {
  const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith(':'));
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const [event, data] = [field('event'), field('data')];
  return event === undefined || data === undefined ? undefined : { event, data: JSON.parse(data) };
}

const pointer = (text: string): string => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
