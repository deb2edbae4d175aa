// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuditTail } from "./audit-log.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "audit-log-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const line = (id: number, username: string, requestObject?: object) => {
  const request = { verb: "patch", requestURI: "/x", stageTimestamp: "2026-11-20T00:00:00.000000Z", requestObject };
  return `${JSON.stringify({ auditID: String(id), ...request, user: { username } })}\n`;
};

describe("createAuditTail", () => {
  it("returns each event of the user since it began once, and only complete lines", async () => {
    const path = join(directory, "audit.log");
    const third = line(3, "operator");
    await writeFile(path, line(1, "operator") + line(2, "plain") + third.slice(0, 20));
    const tail = createAuditTail(path, "operator");
    const ids = async () => (await tail.read()).map(({ auditID }) => auditID);
    expect(await ids()).toEqual(["1"]);
    await appendFile(path, third.slice(20));
    expect(await ids()).toEqual(["1", "3"]);
    await tail.begin();
    expect(await ids()).toEqual([]);
    expect(await createAuditTail(path).read()).toHaveLength(3);
  });

  it("ignores an event about an object that contains the user name", async () => {
    const path = join(directory, "audit.log");
    await writeFile(path, line(1, "plain", { user: { username: "operator" } }));
    expect(await createAuditTail(path, "operator").read()).toEqual([]);
  });

  it("reads lines that are longer than its buffer", async () => {
    const path = join(directory, "audit.log");
    await writeFile(path, line(1, "operator", { a: "é".repeat(1_200_000) }) + line(2, "operator"));
    expect(await createAuditTail(path, "operator").read()).toHaveLength(2);
  });
});
