// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuditTail } from "./audit-tail.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "bench-audit-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const line = (id: number, username: string, more = {}) =>
  `${JSON.stringify({ auditID: String(id), verb: "patch", requestURI: "/x", user: { username }, ...more })}\n`;

describe("createAuditTail", () => {
  it("returns each event of the user once, and only complete lines", async () => {
    const path = join(directory, "audit.log");
    const second = line(3, "operator");
    await writeFile(path, line(1, "operator") + line(2, "plain") + second.slice(0, 20));
    const tail = createAuditTail(path, "operator");
    const ids = async () => (await tail.read()).map(({ auditID }) => auditID);
    expect(await ids()).toEqual(["1"]);
    expect(await ids()).toEqual([]);
    await appendFile(path, second.slice(20));
    expect(await ids()).toEqual(["3"]);
  });

  it("ignores an event about an object that contains the user name", async () => {
    const path = join(directory, "audit.log");
    await writeFile(path, line(1, "plain", { requestObject: { user: { username: "operator" } } }));
    expect(await createAuditTail(path, "operator").read()).toEqual([]);
  });

  it("reads lines that are longer than its buffer", async () => {
    const path = join(directory, "audit.log");
    await writeFile(path, line(1, "operator", { requestObject: "é".repeat(1_200_000) }) + line(2, "operator"));
    expect(await createAuditTail(path, "operator").read()).toHaveLength(2);
  });
});
