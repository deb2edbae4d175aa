// SPDX-License-Identifier: Apache-2.0
/**
 * The page of the findings of `switchyard doctor`, from its catalogue. Reasons of conditions are on their own page.
 */
import ts from "typescript";
import { GenerateError } from "../generate-error.ts";
import { code, table } from "../markdown.ts";
import { constantOf, descend, literalText, memberOf, type Source } from "./sources.ts";

interface CataloguedFinding {
  readonly code: string;
  readonly severity: string;
  readonly cause: string;
}

export function findingsPage(sources: readonly Source[]): string {
  const rows = findingsIn(sources).map((it) => [code(it.code), it.severity, it.cause]);
  return [
    "# Findings",
    "Codes of the findings of [`switchyard doctor`](../guide/doctor.md). A finding from a condition has the reason of the " +
      "condition as its code ([conditions](conditions.md)). `switchyard explain CODE` prints the same, and the next command.",
    table(["Code", "Severity", "Cause"], rows),
  ].join("\n\n");
}

/** The entries of the catalogue, in its order. Throws GenerateError for one without a cause or a next command. */
export function findingsIn(sources: readonly Source[]): readonly CataloguedFinding[] {
  const findings: CataloguedFinding[] = [];
  for (const { tree } of sources.filter(({ path }) => path.endsWith("/finding-catalogue.ts"))) {
    descend(tree, (node) => {
      if (!ts.isPropertyAssignment(node) || !ts.isObjectLiteralExpression(node.initializer)) return;
      const [severity, cause, next] = ["severity", "cause", "next"].map((key) => {
        return ts.isObjectLiteralExpression(node.initializer)
          ? literalText(constantOf(memberOf(node.initializer, key) ?? node.initializer))
          : undefined;
      });
      if (severity === undefined) return;
      if (!cause || !next) {
        throw new GenerateError(
          "NO_TEXT",
          node.name.getText(),
          "has no cause, or no next command, in finding-catalogue.ts",
        );
      }
      findings.push({ code: node.name.getText(), severity, cause });
    });
  }
  return findings;
}
