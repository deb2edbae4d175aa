// SPDX-License-Identifier: Apache-2.0
/** Contract cases of systemd. They need a machine that systemd has booted. */
import assert from "node:assert/strict";
import { assertRefused, type ContractCase } from "./world.ts";

const unit = "switchyard-contract.service";
const file = `/etc/systemd/system/${unit}`;

function unitText(program: string): string {
  return `[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=${program}\n[Install]\nWantedBy=multi-user.target\n`;
}

export const systemdCases: readonly ContractCase[] = [
  {
    name: "systemd loads, enables, starts, stops, disables and forgets a unit",
    async run({ host: { systemd, files } }) {
      const state = async () => Object.values(await systemd.readUnit(unit)).join(" ");
      assert.deepEqual(await systemd.readUnit(unit), {
        loadState: "not-found",
        activeState: "inactive",
        unitFileState: "",
      });
      await files.writeText(file, unitText("/bin/true"));
      await systemd.reload();
      assert.equal(await state(), "loaded inactive disabled");
      await systemd.enableUnits([unit]);
      assert.equal(await state(), "loaded inactive enabled");
      assert.equal(await files.readLink(`/etc/systemd/system/multi-user.target.wants/${unit}`), file);
      for (const nth of ["first", "second"]) {
        await systemd.restartUnit(unit);
        assert.equal(await state(), "loaded active enabled", `${nth} restart`);
      }
      await systemd.stopUnit(unit);
      await systemd.stopUnit(unit);
      assert.equal(await state(), "loaded inactive enabled");
      await systemd.disableUnits([unit]);
      await systemd.disableUnits([unit]);
      assert.equal(await state(), "loaded inactive disabled");
      await files.remove(file);
      await systemd.reload();
      assert.equal(await state(), "not-found inactive ");
      await systemd.disableUnits([unit]);
    },
  },
  {
    name: "systemd reports a unit that does not start",
    async run({ host: { systemd, files } }) {
      await files.writeText(file, unitText("/bin/false"));
      await systemd.reload();
      await assertRefused(systemd.restartUnit(unit), "JOB_FAILED", 'the result of the job is "failed"');
      assert.equal((await systemd.readUnit(unit)).activeState, "failed");
      await systemd.stopUnit(unit);
      await files.remove(file);
      await systemd.reload();
    },
  },
  {
    name: "systemd refuses units that do not exist and names that no unit can have",
    async run({ host: { systemd } }) {
      await assertRefused(systemd.restartUnit(unit), "NoSuchUnit", `Unit ${unit} not found.`);
      await systemd.stopUnit(unit);
      await systemd.disableUnits([unit]);
      await assertRefused(systemd.enableUnits([unit]), "NoSuchUnit", `Unit ${unit} does not exist`);
      for (const name of ["", "x", "../x.service", "/etc/x.service", "a b.service", "*.service", "x.service\n"]) {
        await assertRefused(systemd.restartUnit(name), "EINVAL");
        await assertRefused(systemd.readUnit(name), "EINVAL");
        await assertRefused(systemd.enableUnits([name]), "EINVAL");
      }
    },
  },
];
