// SPDX-License-Identifier: Apache-2.0
/**
 * checkWorkflow checks what actionlint does not: actions are pinned, rights are minimal, jobs are limited in time, and
 * nothing from outside is spliced into a script.
 */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node, type YAMLMap } from "yaml";

/**
 * The actions that workflows may use, each at one commit: a tag can be moved to other code, a commit cannot. All are
 * GitHub's own. To update one, look up the commit of its new tag and change it here and in the workflows.
 */
export const knownActions: Readonly<Record<string, { readonly commit: string; readonly version: string }>> = {
  "actions/cache": { commit: "0400d5f644dc74513175e3cd8d07132dd4860809", version: "v4.2.4" },
  "actions/checkout": { commit: "08c6903cd8c0fde910a37f88322edcfb5dd907a8", version: "v5.0.0" },
  "actions/deploy-pages": { commit: "d6db90164ac5ed86f2b6aed7e0febac5b3c0c03e", version: "v4.0.5" },
  "actions/download-artifact": { commit: "d3f86a106a0bac45b974a628896c90dbdf5c8093", version: "v4.3.0" },
  "actions/setup-go": { commit: "44694675825211faa026b3c33043df3e48a5fa00", version: "v6.0.0" },
  "actions/setup-node": { commit: "a0853c24544627f65ddf259abe73b1d18a591444", version: "v5.0.0" },
  "actions/upload-artifact": { commit: "ea165f8d65b6e75b540449e92b4886f43607fa02", version: "v4.6.2" },
  "actions/upload-pages-artifact": { commit: "7b1f4a764d45c48632c6b24a0339c27f5614fb0b", version: "v4.0.0" },
};

export interface WorkflowFile {
  /** For the messages: ".github/workflows/check.yml". */
  readonly file: string;
  readonly text: string;
  /** The scripts of package.json. */
  readonly scripts: readonly string[];
}

/** Returns a line "file:line: what is wrong, and what would be right" for each problem. */
export function checkWorkflow({ file, text, scripts }: WorkflowFile): readonly string[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems = document.errors.map(({ message }) => `${file}: ${message}`);
  const report = (at: Node | undefined, message: string) => {
    problems.push(`${file}:${lines.linePos(at?.range?.[0] ?? 0).line}: ${message}`);
  };

  const root = document.contents;
  if (!isMap(root)) return [...problems, `${file}: a workflow must be a mapping`];
  const permissions = root.get("permissions", true);
  if (!isReadOnly(permissions)) {
    report(permissions, "the workflow must have permissions: {} or { contents: read }; a job asks for more");
  }
  if (!root.has("concurrency")) report(root, "the workflow must have a concurrency group");

  const jobs = root.get("jobs");
  for (const { key, value: job } of isMap(jobs) ? jobs.items : []) {
    const name = textOf(key);
    if (!isMap(job)) continue;
    if (textOf(job.get("permissions", true)) === "write-all") report(job, `job ${name} must not have all rights`);
    if (job.has("uses")) {
      checkUse(textOf(job.get("uses", true)), (message) => {
        report(job, message);
      });
      continue;
    }
    if (!job.has("timeout-minutes")) report(job, `job ${name} must have timeout-minutes`);
    const steps = job.get("steps");
    for (const step of isSeq(steps) ? steps.items : [])
      if (isMap(step))
        checkStep(step, (message) => {
          report(step, message);
        });
  }
  return problems;

  function checkStep(step: YAMLMap, fail: (message: string) => void): void {
    if (step.has("uses")) {
      const action = textOf(step.get("uses", true));
      checkUse(action, fail, commentOf(step.get("uses", true)));
      const options = step.get("with");
      const keeps = isMap(options) ? options.get("persist-credentials") : undefined;
      if (action.startsWith("actions/checkout@") && keeps !== false) {
        fail("actions/checkout must have persist-credentials: false, so that no later step can use the token");
      }
    }
    const script = textOf(step.get("run", true));
    const spliced = /\$\{\{(?!\s*matrix\.)[^}]*\}\}/.exec(script)?.[0];
    if (spliced !== undefined) fail(`"${spliced}" must not be part of a script; pass it in env`);
    for (const [, called = ""] of script.matchAll(/\bnpm run (?:-s |--silent )?([a-z][a-z0-9:-]*)/g)) {
      if (!scripts.includes(called)) fail(`package.json has no script "${called}"`);
    }
  }
}

function checkUse(reference: string, fail: (message: string) => void, comment = ""): void {
  if (reference.startsWith("./")) return; // of this repository, at this commit
  const [action = "", revision] = reference.split("@");
  const known = Object.hasOwn(knownActions, action) ? knownActions[action] : undefined;
  if (known === undefined) fail(`${action} is not in tools/release/src/workflows/check-workflow.ts`);
  else if (revision !== known.commit) fail(`${action} must be at commit ${known.commit}, not "${revision ?? ""}"`);
  else if (comment.trim() !== known.version) fail(`the comment of ${action} must be its version, # ${known.version}`);
}

function isReadOnly(permissions: unknown): boolean {
  if (!isMap(permissions)) return false;
  return permissions.items.every(({ key, value }) => textOf(key) === "contents" && textOf(value) === "read");
}

function textOf(node: unknown): string {
  return isScalar(node) && typeof node.value === "string" ? node.value : typeof node === "string" ? node : "";
}

function commentOf(node: unknown): string {
  return isScalar(node) ? (node.comment ?? "") : "";
}
