// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "./testing/run-cli.ts";
import { verbs } from "./verbs.ts";

describe("docs/cli.md", () => {
  const page = readFileSync(join(__dirname, "../../../docs/cli.md"), "utf8");

  it.each(["--help", ...verbs.map(({ name }) => `${name} --help`)])(
    "contains the help of: switchyard %s",
    async (command) => {
      const { out } = await runCli(command.split(" "));
      expect(page).toContain(`<!-- switchyard ${command} -->\n\n\`\`\`text\n${out}\`\`\`\n`);
    },
  );
});
