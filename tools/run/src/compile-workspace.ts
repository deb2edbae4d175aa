// SPDX-License-Identifier: Apache-2.0
/**
 * compileWorkspace checks the types of all files of a tsconfig.json and says which of them changes affect since a saved
 * state. These are a changed file, and the files that use its declarations if these have changed. The declarations of a
 * file are remembered from its first change on, until then its users are affected by any change.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import ts from "typescript";

export interface CompiledWorkspace {
  readonly program: ts.Program;
  /** Paths of the files that the tsconfig.json includes. */
  readonly files: readonly string[];
  /** Those of them that changes affect; all without a saved state. */
  readonly affected: readonly string[];
  readonly errors: readonly ts.Diagnostic[];
  /** Writes the state. */
  readonly save: () => void;
}

/** `state` is the path of a file that may be missing. Throws an Error if `config` cannot be read. */
export function compileWorkspace({
  config,
  state,
}: {
  readonly config: string;
  readonly state: string;
}): CompiledWorkspace {
  const parsed = ts.getParsedCommandLineOfConfigFile(
    config,
    // With verbatimModuleSyntax, TypeScript 6.0 does not name the users of a changed declaration. `npm run typecheck` has it.
    { incremental: true, tsBuildInfoFile: state, verbatimModuleSyntax: false },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: failOn },
  );
  if (parsed === undefined) throw new Error(`${config} cannot be read`);
  const { options, fileNames: files } = parsed;
  const host = ts.createIncrementalCompilerHost(options);
  const old = ts.readBuilderProgram(options, host);
  const builder = ts.createEmitAndSemanticDiagnosticsBuilderProgram(files, options, host, old);
  const errors = [
    ...builder.getConfigFileParsingDiagnostics(),
    ...builder.getOptionsDiagnostics(),
    ...builder.getGlobalDiagnostics(),
    ...builder.getSyntacticDiagnostics(),
  ];
  const affected = new Set<string>();
  for (;;) {
    const next = builder.getSemanticDiagnosticsOfNextAffectedFile();
    if (next === undefined) break;
    errors.push(...next.result);
    const sources = "fileName" in next.affected ? [next.affected] : next.affected.getSourceFiles();
    for (const { fileName } of sources) affected.add(fileName);
  }
  return {
    program: builder.getProgram(),
    files,
    affected: files.filter((file) => affected.has(file)),
    errors,
    save: () => {
      mkdirSync(dirname(state), { recursive: true });
      builder.emit(undefined, (path, text) => {
        if (path === state) writeFileSync(state, text);
      });
    },
  };
}

function failOn(diagnostic: ts.Diagnostic): never {
  throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, " "));
}
