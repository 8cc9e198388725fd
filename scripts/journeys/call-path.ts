/** Which files a call passes: every function of ours is made to leave its file's name on the way. Import this before any of ours. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const path = new AsyncLocalStorage<readonly string[]>();

const within = (file: string): readonly string[] => {
  const before = path.getStore() ?? [];
  return before.includes(file) ? before : [...before, file];
};

/** The files whose functions have called each other up to here, the first caller first. */
export const callPath = (): readonly string[] => path.getStore() ?? [];

Object.assign(globalThis, {
  journeyCall: <T>(file: string, work: () => T): T => path.run(within(file), work),
  journeyWalk: <T, R>(file: string, items: AsyncGenerator<T, R>): AsyncGenerator<T, R> => walk(items, within(file)),
});

/** A generator goes on where it was called, whoever takes its items. */
async function* walk<T, R>(items: AsyncGenerator<T, R>, files: readonly string[]): AsyncGenerator<T, R> {
  try {
    for (;;) {
      const { done, value } = await path.run(files, () => items.next());
      if (done) return value;
      yield value;
    }
  } finally {
    await items.return(undefined as R);
  }
}

registerHooks({
  load(url, context, next) {
    const file = url.startsWith('file:') ? fileURLToPath(url).slice(root.length) : '';
    const loaded = next(url, context);
    if (!/^(src|packages\/[\w-]+\/src)\/.*\.ts$/.test(file)) return loaded;
    return { ...loaded, format: 'module', source: traced(file, ts.sys.readFile(root + file) ?? '') };
  },
});

function traced(file: string, text: string): string {
  const options = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true };
  const before: ts.TransformerFactory<ts.SourceFile>[] = [(context) => (source) => visited(source, file, context)];
  return ts.transpileModule(text, { compilerOptions: options, fileName: file, transformers: { before } }).outputText;
}

function visited(source: ts.SourceFile, file: string, context: ts.TransformationContext): ts.SourceFile {
  const { factory: f } = context;
  const call = (name: string, work: ts.Expression) =>
    f.createCallExpression(f.createIdentifier(name), undefined, [f.createStringLiteral(file), work]);
  const passing = (body: ts.ConciseBody, isAsync: boolean): ts.Block => {
    const modifiers = isAsync ? [f.createModifier(ts.SyntaxKind.AsyncKeyword)] : undefined;
    const work = f.createArrowFunction(modifiers, undefined, [], undefined, undefined, body);
    return f.createBlock([f.createReturnStatement(call('journeyCall', work))]);
  };
  const walking = (body: ts.Block): ts.Block => {
    const star = f.createToken(ts.SyntaxKind.AsteriskToken);
    const isAsync = [f.createModifier(ts.SyntaxKind.AsyncKeyword)];
    const items = f.createFunctionExpression(isAsync, star, undefined, undefined, [], undefined, body);
    const own = f.createCallExpression(f.createPropertyAccessExpression(items, 'call'), undefined, [f.createThis()]);
    return f.createBlock([f.createReturnStatement(call('journeyWalk', own))]);
  };
  /** What changes of a function: a generator becomes a function that returns one. */
  const changed = ({ modifiers: written, asteriskToken, body }: Changing) => {
    const modifiers = (written ?? []) as readonly ts.Modifier[];
    const isAsync = modifiers.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword);
    if (asteriskToken === undefined) return { modifiers, asteriskToken, body: passing(body!, isAsync) };
    if (!isAsync) return { modifiers, asteriskToken, body: body as ts.Block };
    const kept = modifiers.filter(({ kind }) => kind !== ts.SyntaxKind.AsyncKeyword);
    return { modifiers: kept, asteriskToken: undefined, body: walking(body as ts.Block) };
  };
  const visit = (node: ts.Node): ts.Node => {
    const one = ts.visitEachChild(node, visit, context);
    if (ts.isArrowFunction(one)) {
      const { typeParameters, parameters, type, equalsGreaterThanToken: arrow, modifiers } = one;
      return f.updateArrowFunction(one, modifiers, typeParameters, parameters, type, arrow, changed(one).body);
    }
    if (ts.isMethodDeclaration(one) && one.body) {
      const { name, questionToken, typeParameters, parameters, type } = one;
      const { modifiers, asteriskToken, body } = changed(one);
      const about = [name, questionToken, typeParameters, parameters, type] as const;
      return f.updateMethodDeclaration(one, modifiers, asteriskToken, ...about, body);
    }
    if (ts.isFunctionDeclaration(one) && one.body) {
      const { name, typeParameters, parameters, type } = one;
      const { modifiers, asteriskToken, body } = changed(one);
      return f.updateFunctionDeclaration(one, modifiers, asteriskToken, name, typeParameters, parameters, type, body);
    }
    return one;
  };
  return ts.visitEachChild(source, visit, context);
}

type Changing = ts.ArrowFunction | ts.MethodDeclaration | ts.FunctionDeclaration;
