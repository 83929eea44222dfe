import { readFileSync } from 'node:fs';

/*
 * Loaded before a gateway that is tortured: its clock shows the time of the machine and as many milliseconds more as a
 * file says, which is read again and again. The clock of the machine is left alone.
 */

const lookEveryMs = 20;
const file = process.env.TORTURE_CLOCK ?? '';
const MachineDate = globalThis.Date;
let ahead = 0;

const look = () => {
  try {
    ahead = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // As it was: the file is being written.
  }
};

class SteppedDate extends MachineDate {
  constructor(...given) {
    if (given.length === 0) super(MachineDate.now() + ahead);
    else super(...given);
  }

  static now() {
    return MachineDate.now() + ahead;
  }
}

if (file !== '') {
  look();
  setInterval(look, lookEveryMs).unref();
  globalThis.Date = SteppedDate;
}
