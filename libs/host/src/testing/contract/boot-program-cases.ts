// SPDX-License-Identifier: Apache-2.0
/** Contract cases of the program that systemd starts while the host boots. */
import assert from "node:assert/strict";
import { assertRefused, type ContractCase } from "./world.ts";

export const bootProgramCases: readonly ContractCase[] = [
  {
    name: "installs, replaces and removes the program for the boot",
    async run({ host: { bootProgram } }) {
      await bootProgram.removeAll();
      assert.equal(await bootProgram.readVersion(), undefined);
      for (const id of ["1", "2", "2"]) {
        await bootProgram.install({ id, files: [{ to: "lib/main.js", text: id }] });
        assert.equal(await bootProgram.readVersion(), id);
      }
      await assertRefused(bootProgram.install({ id: "../3", files: [] }), "EINVAL");
      assert.equal(await bootProgram.readVersion(), "2");
      await bootProgram.removeAll();
      assert.equal(await bootProgram.readVersion(), undefined);
    },
  },
];
