import { withRig } from '../rig.js';
const model='gpt-4o-mini';
const signal=new AbortController().signal;
const [secs=5, warm=6, rounds=2, conns=32, chunks=50]=process.argv.slice(2).map(Number);
const env=Object.fromEntries((process.env.GW??'').split(',').filter(Boolean).map(p=>p.split('=') as [string,string]));
if(process.env.PROF) env.NODE_OPTIONS='--require /tmp/profile.cjs';
await withRig({models:{[model]:{chunks,chunkSize:5}},environment:env},{progress:()=>{},signal} as never,async(rig)=>{
  await rig.measure('tallygate',{model,stream:true,seconds:warm,pace:{connections:conns}});
  for(let r=0;r<rounds;r++) for(const route of ['proxy','tallygate']){
    const m=await rig.measure(route,{model,stream:true,seconds:secs,pace:{connections:conns}});
    const c=(m as any).cpu; 
    console.log(route,'answers/s',m.callsPerSecond.toFixed(0),'chunks/s',m.chunksPerSecond.toFixed(0),'us per answer',Object.entries(c).map(([k,v])=>k+':'+Math.round((v as number)*1000/m.sent)).join(' '));
  }
});
process.exit(0);
