import { Socket } from 'node:net';

/* A worker that begins as it is started, and then fails as FRAIL says. It speaks in lines, as workers do. */

const pipe = new Socket({ fd: 4 });
const say = (message) => pipe.write(`${JSON.stringify(message)}\n`);

let arriving = '';
pipe.setEncoding('utf8');
pipe.on('data', (text) => {
  const lines = (arriving + text).split('\n');
  arriving = lines.pop();
  for (const line of lines) {
    const [, id, name] = JSON.parse(line);
    if (name === 'begin' && process.env.FRAIL === 'refuses')
      say(['refused', id, { type: 'other', text: 'not today', code: 'EADDRINUSE' }]);
    else if (name === 'begin') {
      say(['answer', id, 4711]);
      if (process.env.FRAIL === 'ends') setTimeout(() => process.exit(3), 20);
    } else if (name === 'news' && process.env.FRAIL !== 'slow')
      say(['ask', 0, 'taken', [JSON.parse(line)[3][0].at(-1).position]]);
    else if (name === 'alive' && process.env.FRAIL !== 'stuck') say(['answer', id, true]);
  }
});
pipe.on('error', () => process.exit());
pipe.on('close', () => process.exit());
