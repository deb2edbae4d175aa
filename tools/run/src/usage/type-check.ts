// SPDX-License-Identifier: Apache-2.0
/** Type-checks texts as if they were files of the workspace, in one TypeScript program. */
import ts from "typescript";

/**
 * Errors of the checker that are no fault of a snippet. One is a spread of `any`, which stands for an ellipsis, where a
 * fixed number of arguments is wanted (2556). The other is a name that is declared in another block of the snippet
 * (2304, 18004), since names that nothing declares are found otherwise.
 */
const ignoredErrors = [2556, 2304, 18004];

/** The first error of each text that has one, by its path. */
export function typeErrors(texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts", "lib.esnext.array.d.ts"],
    types: ["node"],
    strict: true,
    noImplicitAny: false, // parameters of callbacks in a snippet
    noEmit: true,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    skipLibCheck: true,
  };
  const program = ts.createProgram({ rootNames: [...texts.keys()], options, host: hostWith(texts, options) });
  const errors = new Map<string, string>();
  for (const path of texts.keys()) {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    const error = found.find((it) => !ignoredErrors.includes(it.code) && !isInferredFromAny(it));
    if (error !== undefined) errors.set(path, ts.flattenDiagnosticMessageText(error.messageText, " "));
  }
  return errors;
}

/** The files on the disk, and the texts. */
function hostWith(texts: ReadonlyMap<string, string>, options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  return {
    ...host,
    fileExists: (path) => texts.has(path) || host.fileExists(path),
    readFile: (path) => texts.get(path) ?? host.readFile(path),
    getSourceFile(path, language, ...rest) {
      const text = texts.get(path);
      return text === undefined
        ? host.getSourceFile(path, language, ...rest)
        : ts.createSourceFile(path, text, language);
    },
  };
}

/** From an argument of type `any` TypeScript infers `unknown`, which then fits nothing. */
function isInferredFromAny({ code, messageText }: ts.Diagnostic): boolean {
  const text = ts.flattenDiagnosticMessageText(messageText, " ");
  return (code === 2345 || code === 18046) && /\bunknown\b/.test(text);
}
