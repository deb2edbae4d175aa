// SPDX-License-Identifier: Apache-2.0
/**
 * The page of events: the reasons in event-reasons.ts of libs/api, and the types from the places in the sources that make an
 * event. Such a place is an object with a type, "Normal" or "Warning", and a reason, or a call of normal() or warning().
 */
import ts from "typescript";
import { GenerateError } from "../generate-error.ts";
import { documentedTables } from "./conditions-page.ts";
import { code, table } from "../markdown.ts";
import { descend, literalText, memberOf, type Source } from "./sources.ts";

export interface EventSite {
  /** As in code: "DrainStarted", or `eventReasons.drainStarted`. Undefined where the reason is the one of a condition. */
  readonly reason: string | undefined;
  readonly type: string;
  readonly path: string;
}

export interface DocumentedEvent {
  readonly name: string;
  /** "Normal" or "Warning". */
  readonly type: string;
  readonly when: string;
  readonly remedy: string;
}

const definitions = "event-reasons.ts";

/** The places whose events have the reason and the message of a condition, and when they record one. */
const aboutConditions: Readonly<Record<string, string>> = {
  "drain-reporter.ts": "`DrainDegraded` of a node state becomes True",
  "held-resets.ts": "`ResetHeld` of a configuration becomes True, or has another reason",
  "transition-events.ts":
    "a policy, pool, network or configuration becomes Ready, Progressing or Degraded, or has another reason",
};

export function eventsPage(sources: readonly Source[]): string {
  const rows = documentedEvents(sources).map(({ name, type, when, remedy }) => [code(name), type, when, remedy]);
  return [
    "# Events",
    "`kubectl get events` shows these reasons, and `kubectl describe` those of one object. `switchyard explain REASON` prints " +
      "the same texts as this page.",
    table(["Reason", "Type", "When", "What to do"], rows),
    "## Events about conditions",
    "These events have the reason and the message of a condition; [conditions](conditions.md) says what to do. They occur when",
    Object.values(aboutConditions)
      .map((when) => `- ${when}`)
      .join("\n"),
  ].join("\n\n");
}

/**
 * All reasons of events, sorted. Throws GenerateError if a place makes an event whose reason has no text, or if a reason has a
 * text and no place uses it.
 */
export function documentedEvents(sources: readonly Source[]): readonly DocumentedEvent[] {
  const reasons = documentedTables(sources, definitions).flatMap(({ entries }) => entries);
  const types = new Map<string, string>();
  for (const { reason, type, path } of eventSites(sources)) {
    if (reason === undefined) {
      if (Object.keys(aboutConditions).some((name) => path.endsWith(`/${name}`))) continue;
      throw new GenerateError(
        "NO_TEXT",
        path,
        "records an event whose reason is not a constant; add it to events-page.ts",
      );
    }
    const known = reasons.find(({ key, value }) => reason === value || reason === `eventReasons.${key}`);
    if (known !== undefined) types.set(known.value, type);
    else
      throw new GenerateError(
        "NO_TEXT",
        path,
        `records the event ${reason}, which is not in libs/api's ${definitions}`,
      );
  }
  return reasons
    .map(({ value, doc, remedy }) => {
      const type = types.get(value);
      if (type !== undefined) return { name: value, type, when: doc, remedy };
      throw new GenerateError("NO_TEXT", definitions, `has the reason ${value}, and no program records such an event`);
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}

/** All places, in the order of the files. */
export function eventSites(sources: readonly Source[]): readonly EventSite[] {
  return sources.filter(({ path }) => path.startsWith("apps/")).flatMap(({ path, tree }) => sitesOf(path, tree));
}

function sitesOf(path: string, tree: ts.SourceFile): readonly EventSite[] {
  const sites: EventSite[] = [];
  descend(tree, (node) => {
    if (ts.isObjectLiteralExpression(node)) {
      const type = eventTypes(memberOf(node, "type"));
      const reason = memberOf(node, "reason");
      const isHelper = reason !== undefined && ts.isIdentifier(reason) && isParameterOfHelper(node);
      if (type !== undefined && reason !== undefined && !isHelper) sites.push({ type, reason: reasonOf(reason), path });
    }
    if (ts.isCallExpression(node) && ["normal", "warning"].includes(node.expression.getText())) {
      const [reason] = node.arguments;
      const type = node.expression.getText() === "normal" ? "Normal" : "Warning";
      if (reason !== undefined) sites.push({ type, reason: reasonOf(reason), path });
    }
  });
  return sites;
}

function reasonOf(reason: ts.Expression): string | undefined {
  const text = reason.getText();
  return text.startsWith("eventReasons.") ? text : literalText(reason);
}

/** "Normal", "Warning" or both, for a type that is one of them or depends on a condition. */
function eventTypes(type: ts.Expression | undefined): string | undefined {
  const words = type?.getText().match(/"(?:Normal|Warning)"/g) ?? [];
  return words.length === 0
    ? undefined
    : [...new Set(words)]
        .map((word) => word.slice(1, -1))
        .toSorted()
        .join(", ");
}

/** Whether an object is what normal() or warning() returns. */
function isParameterOfHelper(node: ts.Node): boolean {
  const helper = ts.findAncestor(node, ts.isFunctionDeclaration);
  return ["normal", "warning"].includes(helper?.name?.text ?? "");
}
